package dev.roost;

import jakarta.enterprise.event.Event;
import jakarta.enterprise.event.NotificationOptions;
import jakarta.enterprise.util.TypeLiteral;
import java.lang.annotation.Annotation;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Events that no container brings to observers: the test looks at them, or has an observer. */
public final class FiredEvents<T> implements Event<T> {
  private final List<T> fired = new CopyOnWriteArrayList<>();
  private final Consumer<? super T> observer;

  public FiredEvents() {
    this(event -> {});
  }

  public FiredEvents(Consumer<? super T> observer) {
    this.observer = observer;
  }

  public List<T> all() {
    return List.copyOf(fired);
  }

  @Override
  public void fire(T event) {
    fired.add(event);
    observer.accept(event);
  }

  @Override
  public <U extends T> CompletionStage<U> fireAsync(U event) {
    fire(event);
    return CompletableFuture.completedFuture(event);
  }

  @Override
  public <U extends T> CompletionStage<U> fireAsync(U event, NotificationOptions options) {
    return fireAsync(event);
  }

  @Override
  public Event<T> select(Annotation... qualifiers) {
    return this;
  }

  @Override
  public <U extends T> Event<U> select(Class<U> subtype, Annotation... qualifiers) {
    throw new UnsupportedOperationException();
  }

  @Override
  public <U extends T> Event<U> select(TypeLiteral<U> subtype, Annotation... qualifiers) {
    throw new UnsupportedOperationException();
  }
}
