package dev.roost.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A setting that may also be zero; the default may be, in any case. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface OrZero {}
