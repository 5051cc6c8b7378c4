package interop;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.shared.SharedValue;
import org.apache.curator.framework.recipes.shared.SharedValueListener;
import org.apache.curator.framework.recipes.shared.SharedValueReader;
import org.apache.curator.framework.state.ConnectionState;

/** What can be asked of a shared value, whose bytes are text. */
class ValueCommands implements Command {
    private final CuratorFramework client;
    private final String path;
    /** What its listener was told. */
    private final List<String> heard = new CopyOnWriteArrayList<>();
    private SharedValue value;

    ValueCommands(CuratorFramework client, String path) {
        this.client = client;
        this.path = path;
    }

    @Override
    public String run(String[] words) throws Exception {
        switch (words[0]) {
            case "start":
                start(bytes(words[2]));
                return "started";
            case "get":
                return text(value.getValue());
            case "set":
                value.setValue(bytes(words[2]));
                return "set";
            case "trySet":
                return Boolean.toString(value.trySetValue(value.getVersionedValue(), bytes(words[2])));
            case "heard":
                return String.join(" ", heard);
            default:
                throw new IllegalArgumentException("No such command: " + words[0]);
        }
    }

    private void start(byte[] seed) throws Exception {
        value = new SharedValue(client, path, seed);
        value.getListenable().addListener(new SharedValueListener() {
            @Override
            public void valueHasChanged(SharedValueReader reader, byte[] newValue) {
                heard.add(text(newValue));
            }

            @Override
            public void stateChanged(CuratorFramework unused, ConnectionState state) {}
        });
        value.start();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
