package dev.roost.swarmnode;

import dev.roost.api.Body;
import dev.roost.api.ErrorCode;
import dev.roost.api.JsonText;
import dev.roost.api.Problem;
import dev.roost.datastore.DataStore;
import dev.roost.datastore.StoreContent;
import dev.roost.datastore.StoreSizes;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.MediaType;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jboss.resteasy.reactive.RestQuery;

/** Stores, each with all of its entries. */
@Path("/compat/swarmnode/v1/stores")
@Blocking
public class CompatStores {
  private static final String LIST = "stores";

  /** Of the entries of all stores in one response. */
  private static final int MOST_CHARACTERS = 16 << 20;

  private final StoreContent content;
  private final StoreSizes sizes;
  private final Clock clock;
  private final CompatUrls urls;

  CompatStores(StoreContent content, StoreSizes sizes, Clock clock, CompatUrls urls) {
    this.content = content;
    this.sizes = sizes;
    this.clock = clock;
    this.urls = urls;
  }

  /** A store. */
  public record View(String id, String name, JsonText data, Instant created) {}

  @GET
  public NumberedPage<View> list(
      @RestQuery Integer page, @RestQuery("page_size") Integer pageSize) {
    NumberedPage.Position position = NumberedPage.Position.of(page, pageSize);
    List<DataStore> stores =
        QuarkusTransaction.requiringNew()
            .call(
                () ->
                    DataStore.<DataStore>find("order by id desc")
                        .range(position.first(), position.last())
                        .list());
    long total = QuarkusTransaction.requiringNew().call(() -> DataStore.count());
    int left = MOST_CHARACTERS;
    List<View> views = new ArrayList<>();
    for (DataStore store : stores) {
      try {
        View view = view(store, left);
        left -= view.data().text().length();
        views.add(view);
      } catch (Problem e) {
        if (e.code() != ErrorCode.NOT_FOUND) {
          throw e;
        }
        // It was deleted meanwhile.
      }
    }
    return NumberedPage.of(urls, LIST, position, Map.of(), total, views);
  }

  @GET
  @Path("{id}")
  public View retrieve(String id) {
    return view(find(CompatIds.STORE.id(id)), MOST_CHARACTERS);
  }

  @POST
  @Path("create")
  @Consumes(MediaType.APPLICATION_JSON)
  @ResponseStatus(201)
  public View create(byte[] bytes) {
    Body body = Body.parse(bytes);
    body.require("name");
    String name = name(body).orElse(null);
    DataStore store =
        QuarkusTransaction.requiringNew().call(() -> DataStore.create(name, clock.instant()));
    return view(store, MOST_CHARACTERS);
  }

  @PATCH
  @Path("{id}/update")
  @Consumes(MediaType.APPLICATION_JSON)
  public View update(String id, byte[] bytes) {
    String storeId = CompatIds.STORE.id(id);
    Optional<String> name = name(Body.parse(bytes));
    QuarkusTransaction.requiringNew()
        .run(
            () -> {
              DataStore store = DataStore.get(storeId);
              name.ifPresent(given -> store.rename(given, clock.instant()));
            });
    return view(find(storeId), MOST_CHARACTERS);
  }

  @DELETE
  @Path("{id}/delete")
  public void delete(String id) {
    String storeId = CompatIds.STORE.id(id);
    QuarkusTransaction.requiringNew().run(() -> DataStore.delete(storeId, false));
    sizes.forget(storeId);
  }

  private static Optional<String> name(Body body) {
    Optional<String> name = body.string("name");
    body.check();
    return name;
  }

  private static DataStore find(String id) {
    return QuarkusTransaction.requiringNew().call(() -> DataStore.get(id));
  }

  private View view(DataStore store, int mostCharacters) {
    return new View(
        CompatIds.STORE.uuid(store.id),
        store.name,
        content.read(store.id, mostCharacters),
        store.createdAt);
  }
}
