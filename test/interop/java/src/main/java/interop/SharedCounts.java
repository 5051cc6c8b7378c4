package interop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.shared.SharedCount;

/** The shared counts that this process keeps up with, by their paths. */
class SharedCounts {
    private final CuratorFramework client;
    private final Map<String, SharedCount> counts = new ConcurrentHashMap<>();

    SharedCounts(CuratorFramework client) {
        this.client = client;
    }

    void start(String path, int seed) throws Exception {
        SharedCount count = new SharedCount(client, path, seed);
        count.start();
        counts.put(path, count);
    }

    SharedCount get(String path) {
        return counts.get(path);
    }
}
