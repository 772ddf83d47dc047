/**
 * Only verifies signatures: PUT stores requests, and POST verifies each of them once. Argument: its JSON.
 */
import http from 'node:http';
import { json } from 'node:stream/consumers';
import type { HttpRequest } from '../requests.ts';
import { VERIFIERS } from '../verifiers.ts';
import type { BareVerifier } from './bare.ts';

const { port, by, party } = JSON.parse(process.argv[2] ?? '') as BareVerifier;
const verifier = VERIFIERS[by](party);
let run = verifier([]);

http
  .createServer((request, response) => {
    const answer = async () => {
      if (request.method === 'PUT') run = verifier((await json(request)) as HttpRequest[]);
      const right = request.method === 'POST' ? await run() : 0;
      response.end(JSON.stringify({ right }));
    };
    answer().catch((error: Error) => response.writeHead(500).end(error.stack));
  })
  .listen(port, '127.0.0.1');
