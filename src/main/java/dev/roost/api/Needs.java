package dev.roost.api;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The role that a resource method requires. Without this annotation, GET requires {@link Role#READ}
 * and other methods require {@link Role#WRITE}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Needs {
  Role value();
}
