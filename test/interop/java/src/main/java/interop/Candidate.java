package interop;

import java.io.IOException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.zookeeper.data.Stat;

/** A member of a fleet that stands for election: as long as its latch leads, it claims so every few ms, with its token. */
class Candidate {
    private static final int CLAIM_EVERY = 5;

    private final CuratorFramework client;
    private final LeaderLatch latch;
    private final Observer observer;
    /** The node that it leads by, as far as its token is known. */
    private String path;
    private long token;

    Candidate(CuratorFramework client, LeaderLatch latch, Observer observer) {
        this.client = client;
        this.latch = latch;
        this.observer = observer;
    }

    /** Claims until the latch is closed. */
    void run() throws IOException, InterruptedException {
        boolean hasClaimed = false;
        while (latch.getState() != LeaderLatch.State.CLOSED) {
            boolean knowsToken = latch.hasLeadership() && learnToken();
            if (knowsToken && latch.hasLeadership()) { // it may have been lost while the servers were asked
                observer.tell("claim " + token);
                hasClaimed = true;
            } else if (hasClaimed && !latch.hasLeadership()) {
                observer.tell("lost");
                hasClaimed = false;
            }
            Thread.sleep(CLAIM_EVERY);
        }
    }

    private boolean learnToken() {
        String current = latch.getLastPathIsLeader();
        if (current == null || current.equals(path)) {
            return current != null;
        }
        try {
            Stat stat = client.checkExists().forPath(current);
            if (stat == null) {
                return false;
            }
            path = current;
            token = stat.getCzxid();
            return true;
        } catch (Exception e) { // no connection: it does not claim what it cannot prove
            return false;
        }
    }
}
