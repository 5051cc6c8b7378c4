package interop;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.state.ConnectionState;

/** What can be asked of a shared count. */
class CountCommands implements Command {
    private final CuratorFramework client;
    private final String path;
    /** What its listener was told. */
    private final List<String> heard = new CopyOnWriteArrayList<>();
    private SharedCount count;

    CountCommands(CuratorFramework client, String path) {
        this.client = client;
        this.path = path;
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "start":
                start(Integer.parseInt(words[2]));
                return "started";
            case "get":
                return Integer.toString(count.getCount());
            case "set":
                count.setCount(Integer.parseInt(words[2]));
                return "set";
            case "trySet":
                return Boolean.toString(count.trySetCount(count.getVersionedValue(), Integer.parseInt(words[2])));
            case "heard":
                return String.join(" ", heard);
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    private void start(int seed) throws Exception {
        count = new SharedCount(client, path, seed);
        count.addListener(new SharedCountListener() {
            @Override
            public void countHasChanged(SharedCountReader reader, int newCount) {
                heard.add(Integer.toString(newCount));
            }

            @Override
            public void stateChanged(CuratorFramework unused, ConnectionState state) {}
        });
        count.start();
    }
}
