/** A bare node:http server that only checks a password for each request. Argument: its JSON. */
import http from 'node:http';
import { verify } from '@node-rs/argon2';
import type { BareHash } from './bare.ts';

const { port, hash, password } = JSON.parse(process.argv[2] ?? '') as BareHash;

http
  .createServer((_, response) => {
    void verify(hash, password).then((right) => response.writeHead(right ? 204 : 500).end());
  })
  .listen(port, '127.0.0.1');
