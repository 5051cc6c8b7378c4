package interop;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.Revoker;

/** What the peer can be asked to do; the answers are single lines. */
class Commands implements Command {
    private final CuratorFramework client;
    private final SharedCounts counts;
    private final Locks locks;
    private final Recipes recipes;
    private final Revocations revocations = new Revocations();
    private final Workers workers = new Workers();

    Commands(CuratorFramework client) {
        this.client = client;
        this.counts = new SharedCounts(client);
        this.locks = new Locks(client, counts);
        this.recipes = new Recipes(client);
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "acquire":
                return acquire(words[1], Long.parseLong(words[2]), Integer.parseInt(words[3]));
            case "release":
                locks.get(words[1]).release();
                return "released";
            case "participants":
                return String.join(" ", locks.get(words[1]).participants());
            case "makeRevocable":
                revocations.listen(words[1], (ProcessLock) locks.get(words[1]));
                return "revocable";
            case "revoked":
                return revocations.await(words[1], Long.parseLong(words[2])) ? "revoked" : "timeout";
            case "revoke":
                Revoker.attemptRevoke(client, words[1]);
                return "sent";
            case "startCount":
                counts.start(words[1], Integer.parseInt(words[2]));
                return "started";
            case "setCount":
                counts.get(words[1]).setCount(Integer.parseInt(words[2]));
                return "set";
            case "session":
                return Long.toHexString(client.getZookeeperClient().getZooKeeper().getSessionId());
            case "work":
                return Integer.toString(workers.work(locks.get(words[1]), Integer.parseInt(words[2]), words[3]));
            case "rest":
                workers.rest();
                return "resting";
            default:
                return recipes.get(words[1]).run(words);
        }
    }

    private String acquire(String specification, long wait, int permits) throws Exception {
        return locks.get(specification).acquire(wait, permits) ? "granted" : "timeout";
    }
}
