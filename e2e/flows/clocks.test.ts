import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { freePort } from '../parts/free-port.ts';
import { until } from '../parts/process.ts';
import { home } from './home.ts';

const HOUR = 3600;

/** A way to the keys of an issuer, on which answers get another Date. */
async function wayTo(issuer: string) {
  const change = { ahead: 0, age: undefined as string | undefined, asked: 0 };
  const pass = async (url: string, response: ServerResponse) => {
    const answer = await fetch(issuer + url);
    change.asked += 1;
    response.setHeader('date', new Date(Date.now() + change.ahead * 1000).toUTCString());
    if (change.age !== undefined) response.setHeader('age', change.age);
    response.end(await answer.text());
  };
  const way = createServer(({ url = '' }, response) => void pass(url, response));
  await once(way.listen(0, '127.0.0.1'), 'listening');
  return {
    change,
    port: (way.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      way.closeAllConnections();
      await new Promise((closed) => way.close(closed));
    },
  };
}

test('a clock of the other server that is an hour off is a line and a metric, and so is that it is well again', async () => {
  const metrics = await freePort();
  await using place = await home();
  await using way = await wayTo(place.issuer);
  const { change } = way;
  const config = {
    ...place.config,
    listen: { ...place.config.listen, metrics: { port: metrics } },
    jwks: { url: `http://127.0.0.1:${way.port}/jwks`, maxAge: 1 },
  };
  await writeFile(place.file, JSON.stringify(config));
  await using pair = await place.start();

  const difference = async () => {
    const scraped = await (await fetch(`http://localhost:${metrics}/metrics`)).text();
    const [, value] =
      /^countersign_clock_difference_seconds\{server="resource"\} (\S+)$/m.exec(scraped) ?? [];
    return Number(value);
  };
  /** The lines, once the keys were fetched twice more: whoever asks for readiness asks for them. */
  async function lines() {
    const before = change.asked;
    await until(async () => {
      await (await fetch(`${place.resource}/health/ready`)).text();
      return change.asked > before + 1;
    });
    return pair.output.match(/"clock\.\w+","reason":"[^"]*/g) ?? [];
  }
  expect([await lines(), await difference()]).toEqual([[], 0]);
  change.ahead = -HOUR;
  change.age = String(HOUR);
  expect([await lines(), await difference()]).toEqual([[], 0]);
  change.age = undefined;
  expect(await lines()).toEqual([expect.stringMatching(/clock\.differs.* 3\d\d\d s behind ours/)]);
  expect(Math.abs((await difference()) - HOUR)).toBeLessThan(60);
  change.ahead = 0;
  expect(await lines()).toEqual([expect.anything(), expect.stringMatching(/^"clock\.agrees"/)]);
  expect(await difference()).toBe(0);
});
