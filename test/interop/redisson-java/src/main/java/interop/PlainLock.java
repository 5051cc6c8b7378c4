package interop;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;

/** A lock without fencing tokens. */
class PlainLock implements PeerLock {
    private final RLock lock;

    PlainLock(RLock lock) {
        this.lock = lock;
    }

    @Override
    public boolean acquire(long wait, long lease) throws InterruptedException {
        if (wait >= 0) {
            return lock.tryLock(wait, lease, TimeUnit.MILLISECONDS);
        }
        lock.lock(lease, TimeUnit.MILLISECONDS);
        return true;
    }

    @Override
    public boolean tryAcquire() {
        return lock.tryLock();
    }

    @Override
    public RLock redissonLock() {
        return lock;
    }

    @Override
    public long sequence() {
        return -1;
    }
}
