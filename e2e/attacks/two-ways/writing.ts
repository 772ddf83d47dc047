import assert from 'node:assert/strict';
import type { Flow } from '../../flows/flow.ts';
import { type Dice, pick } from '../dice.ts';
import type { Asked } from './asked.ts';
import { overHttp1 } from './over-http1.ts';

const METHODS = ['PUT', 'PUT', 'PUT', 'DELETE'] as const;
const TARGET = '/documents/a.txt';

export interface Writing {
  /** Writes or deletes, through one of the servers, a document that the generated requests read. */
  write(): Promise<void>;
  /** The request that reads the current state. */
  readonly read: Asked;
}

export async function createWriting(
  { forge, pair }: Flow,
  urls: readonly [string, string],
  roll: Dice,
): Promise<Writing> {
  const { host } = new URL(pair.resource);
  const scope = 'documents:read documents:write';
  const aud = `${pair.resource}/documents/`;
  const token = await forge({ client_id: 'writer', scope, aud });
  const fields = [
    ['Host', host],
    ['Authorization', `Bearer ${token}`],
  ] as const;

  return {
    async write() {
      const method = pick(roll, METHODS);
      const content = method === 'PUT' ? 'a'.repeat(roll(2000)) : '';
      const lines = [...fields, ['Content-Length', content.length]].map((field) =>
        field.join(': '),
      );
      const message = [`${method} ${TARGET} HTTP/1.1`, ...lines, '', content].join('\r\n');
      const { status } = await overHttp1(pick(roll, urls), Buffer.from(message));
      assert([201, 204, 404].includes(status), `${method} was answered ${status}`);
    },
    read: { version: 'HTTP/1.1', method: 'GET', target: TARGET, fields, shown: undefined },
  };
}
