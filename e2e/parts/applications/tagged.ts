/**
 * An application whose answers name their request in every part. Argument: its port. It prints the path of
 * each request.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { contentFor, framingFor } from './tags.ts';

createServer((request, response) => {
  const { method, url = '' } = request;
  console.log(`${method} ${url}`);
  void text(request).then(async (sent) => {
    const content = `${contentFor(url)}${sent}`;
    const framing = framingFor(url);
    if (framing === 'close') response.setHeader('Connection', 'close');
    if (framing !== 'pieces') return response.end(content);
    const third = Math.ceil(content.length / 3);
    for (let at = 0; at < content.length; at += third) {
      response.write(content.slice(at, at + third));
      await turn();
    }
    return response.end();
  });
}).listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening'));
