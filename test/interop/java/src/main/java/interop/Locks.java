package interop;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;

/**
 * The locks of this process by their specifications: <code>mutex:/a</code>, <code>read:/a</code>,
 * <code>write:/a</code>, <code>semaphore#3:/a</code>, <code>semaphore#/n:/a</code> (as many permits as the shared count
 * at <code>/n</code> says), <code>semaphoreMutex:/a</code>, and <code>mutex:/a+write:/b</code> for a multi-lock. The same
 * specification is the same object, for all threads.
 */
class Locks {
    private final CuratorFramework client;
    private final SharedCounts counts;
    private final Map<String, PeerLock> locks = new ConcurrentHashMap<>();
    private final Map<String, InterProcessReadWriteLock> readWriteLocks = new ConcurrentHashMap<>();

    Locks(CuratorFramework client, SharedCounts counts) {
        this.client = client;
        this.counts = counts;
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
            return new ProcessLock(new InterProcessMultiLock(parts(specification)));
        }
        int colon = specification.indexOf(':');
        String path = specification.substring(colon + 1);
        String[] recipe = specification.substring(0, colon).split("#");
        switch (recipe[0]) {
            case "mutex":
                return new ProcessLock(new NumberedMutex(client, path));
            case "read":
                return new ProcessLock(readWriteLock(path).readLock());
            case "write":
                return new ProcessLock(readWriteLock(path).writeLock());
            case "semaphoreMutex":
                return new ProcessLock(new InterProcessSemaphoreMutex(client, path));
            case "semaphore":
                return new SemaphoreLock(semaphore(path, recipe[1]));
            default:
                throw new IllegalArgumentException("No such recipe: " + specification);
        }
    }

    private List<InterProcessLock> parts(String specification) {
        List<InterProcessLock> parts = new ArrayList<>();
        for (String part : specification.split("\\+")) {
            parts.add(((ProcessLock) get(part)).curatorLock());
        }
        return parts;
    }

    private InterProcessSemaphoreV2 semaphore(String path, String permits) {
        return permits.startsWith("/")
                ? new InterProcessSemaphoreV2(client, path, counts.get(permits))
                : new InterProcessSemaphoreV2(client, path, Integer.parseInt(permits));
    }

    private InterProcessReadWriteLock readWriteLock(String path) {
        return readWriteLocks.computeIfAbsent(path, p -> new InterProcessReadWriteLock(client, p));
    }
}
