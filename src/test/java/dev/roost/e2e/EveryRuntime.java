package dev.roost.e2e;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests of what users see, which is the same on every runtime. They run on the one that the system
 * property {@code e2e.runtime} names, and are left out when that needs a cluster and there is none.
 * In them, {@link LocalOnly} marks what is not tested again on others.
 */
@Tag("e2e")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith({TestCluster.Condition.class, Gate.Resolver.class})
@interface EveryRuntime {}
