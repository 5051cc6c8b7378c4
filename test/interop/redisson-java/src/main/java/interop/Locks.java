package interop;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * The locks of this process by their specifications: <code>lock:a</code>, <code>fair:a</code>, <code>fenced:a</code>,
 * <code>read:a</code>, <code>write:a</code>, <code>spin:a</code>, and <code>lock:a+lock:b</code> for a multi-lock. The same
 * specification is the same object, for all threads.
 */
class Locks {
    private final RedissonClient client;
    private final Map<String, PeerLock> locks = new ConcurrentHashMap<>();

    Locks(RedissonClient client) {
        this.client = client;
    }

    PeerLock get(String specification) {
        PeerLock known = locks.get(specification);
        if (known != null) {
            return known;
        }
        PeerLock made = make(specification); // a multi-lock looks up its parts here, so not inside of computeIfAbsent
        PeerLock first = locks.putIfAbsent(specification, made);
        return first == null ? made : first;
    }

    private PeerLock make(String specification) {
        if (specification.contains("+")) {
            return new PlainLock(client.getMultiLock(parts(specification)));
        }
        int colon = specification.indexOf(':');
        String name = specification.substring(colon + 1);
        switch (specification.substring(0, colon)) {
            case "lock":
                return new PlainLock(client.getLock(name));
            case "fair":
                return new PlainLock(client.getFairLock(name));
            case "fenced":
                return new FencedLock(client.getFencedLock(name));
            case "read":
                return new PlainLock(client.getReadWriteLock(name).readLock());
            case "write":
                return new PlainLock(client.getReadWriteLock(name).writeLock());
            case "spin":
                return new PlainLock(client.getSpinLock(name));
            default:
                throw new IllegalArgumentException("No such lock: " + specification);
        }
    }

    private RLock[] parts(String specification) {
        return Arrays.stream(specification.split("\\+"))
                .map(part -> get(part).redissonLock())
                .toArray(RLock[]::new);
    }
}
