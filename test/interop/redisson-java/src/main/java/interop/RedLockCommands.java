package interop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** What can be asked of locks on several servers, by their names. */
class RedLockCommands implements Command {
    private final List<RedissonClient> clients;
    private final Map<String, PeerLock> locks = new ConcurrentHashMap<>();

    RedLockCommands(List<RedissonClient> clients) {
        this.clients = clients;
    }

    @Override
    public String run(String[] words) throws Exception {
        PeerLock lock = locks.computeIfAbsent(words[1], this::make);
        switch (words[0]) {
            case "acquire":
                return outcome(lock.acquire(Long.parseLong(words[2]), Long.parseLong(words[3])));
            case "tryAcquire":
                return outcome(lock.tryAcquire());
            case "release":
                lock.release();
                return "released";
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    private PeerLock make(String name) {
        RLock[] parts = clients.stream().map(client -> client.getLock(name)).toArray(RLock[]::new);
        return new PlainLock(clients.get(0).getRedLock(parts));
    }

    private static String outcome(boolean isGranted) {
        return isGranted ? "granted" : "timeout";
    }
}
