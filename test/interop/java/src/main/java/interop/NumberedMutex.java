package interop;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** A mutex that tells the number of the node by which the calling thread holds it. */
class NumberedMutex extends InterProcessMutex {
    private static final int DIGITS = 10;

    NumberedMutex(CuratorFramework client, String path) {
        super(client, path);
    }

    long sequence() {
        String path = getLockPath();
        return Long.parseLong(path.substring(path.length() - DIGITS));
    }
}
