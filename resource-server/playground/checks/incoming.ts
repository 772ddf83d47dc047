import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { RecordedMessage } from '../recorded.ts';

/** Returns a recorded request as the functions of the server read it, with its content still to come. */
export function incoming({ words, fields, content }: RecordedMessage): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const [method = '', url = ''] = words;
  const rawHeaders = fields.flat();
  const headers = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
  Object.assign(request, { method, url, rawHeaders, headers, httpVersion: '1.1', complete: true });
  if (content.length > 0) request.push(content);
  request.push(null);
  return request;
}
