package dev.roost.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Allows zero for a setting; a default of zero allows zero, too. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface OrZero {}
