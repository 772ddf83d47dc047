/** A bare node:http server with one text in memory. Argument: its JSON. */
import http from 'node:http';
import type { BareText } from './bare.ts';

const { port, body } = JSON.parse(process.argv[2] ?? '') as BareText;
const fields = { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body) };

http
  .createServer((_, response) => void response.writeHead(200, fields).end(body))
  .listen(port, '127.0.0.1');
