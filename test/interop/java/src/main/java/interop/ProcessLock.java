package interop;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Whatever Curator calls an InterProcessLock. */
class ProcessLock implements PeerLock {
    private final InterProcessLock lock;

    ProcessLock(InterProcessLock lock) {
        this.lock = lock;
    }

    InterProcessLock curatorLock() {
        return lock;
    }

    @Override
    public boolean acquire(long wait, int permits) throws Exception {
        if (wait >= 0) {
            return lock.acquire(wait, TimeUnit.MILLISECONDS);
        }
        lock.acquire();
        return true;
    }

    @Override
    public void release() throws Exception {
        lock.release();
    }

    @Override
    public Collection<String> participants() throws Exception {
        return lock instanceof InterProcessMutex ? ((InterProcessMutex) lock).getParticipantNodes() : List.of();
    }

    @Override
    public long sequence() {
        return lock instanceof NumberedMutex ? ((NumberedMutex) lock).sequence() : -1;
    }
}
