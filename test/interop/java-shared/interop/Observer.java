package interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Connection to the process that watches the fleet. It has written down what it is told when the method returns. */
class Observer implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader answers;

    Observer(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    void tell(String event) throws IOException {
        socket.getOutputStream().write((event + "\n").getBytes(StandardCharsets.UTF_8));
        if (answers.readLine() == null) {
            throw new IOException("The observer has gone");
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
