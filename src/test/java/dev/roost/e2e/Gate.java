package dev.roost.e2e;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * What scripts wait at, wherever they run: they connect to {@link #address}, and the connection
 * ends when the gate is open. In Python: {@code socket.create_connection(address).recv(1)}.
 */
final class Gate implements AutoCloseable {
  private final ServerSocket listener;
  private final List<Socket> held = new ArrayList<>();
  private int places;
  private int arrivals;

  /** One that holds all who come until it opens. */
  Gate() {
    this(Integer.MAX_VALUE);
  }

  /**
   * @param places how many it holds until it opens; whoever comes later passes
   */
  Gate(int places) {
    this.places = places;
    listener = ScriptListener.open();
    Thread thread = new Thread(this::accept, "gate");
    thread.setDaemon(true);
    thread.start();
  }

  /** Host and port as a JSON array. */
  String address() {
    return ScriptListener.address(listener);
  }

  /** How many have come. */
  synchronized int arrivals() {
    return arrivals;
  }

  synchronized void open() {
    places = 0;
    held.forEach(Gate::end);
    held.clear();
  }

  private void accept() {
    try {
      while (true) {
        arrive(listener.accept());
      }
    } catch (IOException e) {
      open(); // It was closed.
    }
  }

  private synchronized void arrive(Socket socket) {
    arrivals++;
    if (held.size() < places) {
      held.add(socket);
    } else {
      end(socket);
    }
  }

  private static void end(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gives a test a gate that holds all, as a parameter. */
  static final class Resolver implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(Gate.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == Gate.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return context.getStore(NAMESPACE).computeIfAbsent("gate", key -> new Gate(), Gate.class);
    }
  }

  /** Opens it for all who have come. */
  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
