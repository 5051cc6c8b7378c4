import de.bwaldvogel.mongo.ServerVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

/** A server that speaks the protocol of MongoDB, and keeps everything in memory. Argument: the port on loopback. */
class MongoServer {
  public static void main(String[] arguments) {
    var backend = new MemoryBackend().version(ServerVersion.MONGO_5_0);
    new de.bwaldvogel.mongo.MongoServer(backend).bind("127.0.0.1", Integer.parseInt(arguments[0]));
  }
}
