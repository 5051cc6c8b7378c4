import { get } from 'node:http';

/**
 * Ten clients that send requests to an HTTP service again and again, each time on a new connection. The returned function ends
 * it.
 */
export function httpLoad(port: number): () => void {
  let isOver = false;
  const ask = () => {
    if (isOver) return;
    get({ port, host: '127.0.0.1', agent: false }, (response) => {
      response.resume();
      response.on('end', () => setTimeout(ask, 2));
    }).on('error', () => setTimeout(ask, 50));
  };
  for (let n = 0; n < 10; n++) ask();
  return () => (isOver = true);
}
