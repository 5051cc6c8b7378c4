import { connect } from 'node:net';

/**
 * Asks a ZooKeeper server one of its four-letter questions (`srvr`, `cons`, `wchs`, `mntr`, …).
 *
 * @returns the answer; empty when there is no listener or the answer does not come within `timeout` milliseconds
 */
export function fourLetterWord(
  word: string,
  port: number,
  host: string,
  timeout = 1000,
): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    // Written without ending our side: the server may see the end first and drop the question.
    const socket = connect(port, host, () => socket.write(word));
    socket.setEncoding('utf8');
    socket.setTimeout(timeout, () => {
      answer = '';
      socket.destroy();
    });
    socket.on('data', (text: string) => (answer += text));
    socket.on('error', () => {}); // `close` follows
    socket.on('close', () => resolve(answer));
  });
}
