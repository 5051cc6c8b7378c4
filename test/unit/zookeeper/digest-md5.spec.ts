import { describe, expect, it } from '@jest/globals';
import { DigestMd5 } from '../../../lib/zookeeper/wire/digest-md5.js';

const NONCE = 'OA6MG9tEQGm2hh';
const CNONCE = 'OA6MHXh6VqTrRk';
const CHALLENGE = Buffer.from(
  `realm="zk-sasl-md5",nonce="${NONCE}",charset=utf-8,algorithm=md5-sess`,
);

/** Digests that another implementation has made, of bytes as RFC 2831 (2.1.2.1) has them, and proofs of the server. */
const KNOWN = [
  ['ann', 'secret', '4293981184c27b88be3acaa0b576eabb', '9d8d5ed018bdd2866df7db04b6ab89b0'],
  ['bob', 'pässwort', 'af569317a66d9d263fe927343c61b6b7', '0779c8c117ef4b210784fd691c8011b5'],
  ['cyd', 'пароль', '259b101856c62b7964cf7188908a7d2a', '6f08b37289297314f132a148ccade3f2'],
  ['jürgen', 'пароль', 'dedafd18872fa2a717fdc53db1801f6e', '08017d71950c4b6e488c2fb4a17b06ec'],
  ['пётр', 'ß', '4ff0864bfaf9a97fa926652f718202f1', '0d80822b7223fb01eda1e9251c013a65'],
] as const;

describe('SASL by DIGEST-MD5', () => {
  it.each(KNOWN)(
    'hashes the name and the password of %s, each in ISO 8859-1 if that has all its letters, else in UTF-8',
    (username, password, digest, proof) => {
      const client = new DigestMd5({ username, password }, CNONCE);
      const response = client.respond(CHALLENGE).toString('utf8');
      expect(response).toContain(`response=${digest},`);
      expect(response).toContain(`charset=utf-8,username="${username}"`);
      expect(client.isProven(Buffer.from(`rspauth=${proof}`))).toBe(true);
      expect(client.isProven(Buffer.from(`rspauth=${digest}`))).toBe(false);
    },
  );
});
