package interop;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** What can be asked of locks. */
class LockCommands implements Command {
    private final RedissonClient client;
    private final Locks locks;
    private final Workers workers;

    LockCommands(RedissonClient client, Workers workers) {
        this.client = client;
        this.locks = new Locks(client);
        this.workers = workers;
    }

    @Override
    public String run(String[] words) throws Exception {
        return run(locks.get(words[1]), words);
    }

    private String run(PeerLock lock, String[] words) throws Exception {
        RLock redissonLock = lock.redissonLock();
        switch (words[0]) {
            case "acquire":
                return outcome(lock.acquire(Long.parseLong(words[2]), Long.parseLong(words[3])));
            case "tryAcquire":
                return outcome(lock.tryAcquire());
            case "release":
                lock.release();
                return "released";
            case "forceUnlock":
                return Boolean.toString(redissonLock.forceUnlock());
            case "isLocked":
                return Boolean.toString(redissonLock.isLocked());
            case "isHeld":
                return Boolean.toString(redissonLock.isHeldByCurrentThread());
            case "holder":
                return client.getId() + ":" + Thread.currentThread().getId();
            case "holdCount":
                return Integer.toString(redissonLock.getHoldCount());
            case "remaining":
                return Long.toString(redissonLock.remainTimeToLive());
            case "token":
                return Long.toString(lock.sequence());
            case "work":
                return Integer.toString(workers.work(lock, Integer.parseInt(words[2]), words[3]));
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    private static String outcome(boolean isGranted) {
        return isGranted ? "granted" : "timeout";
    }
}
