package interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Threads by name: to Curator and Redisson, each of them is an owner of locks. Each does its commands one after the other. */
class Actors {
    private final Command command;
    private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();

    Actors(Command command) {
        this.command = command;
    }

    /** Passes on the lines of that stream until it ends. */
    void listen(InputStream input) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            tell(line);
        }
    }

    /** @param line actor, command, arguments, with spaces in between; the answer begins with the actor as well */
    private void tell(String line) {
        String[] words = line.split(" ");
        threads.computeIfAbsent(words[0], name -> Executors.newSingleThreadExecutor())
                .execute(() -> answer(words[0], Arrays.copyOfRange(words, 1, words.length)));
    }

    private void answer(String actor, String[] words) {
        String answer;
        try {
            answer = "ok " + command.run(words);
        } catch (Exception e) {
            answer = "error " + e.toString().replace('\n', ' ');
        }
        System.out.println(actor + " " + answer);
    }
}
