import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { freePort } from '../parts/free-port.ts';
import { until } from '../parts/process.ts';
import { home } from './home.ts';

const HOUR = 3600;

/** A relay to the issuer's keys that can change the Date of answers. */
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

test("if the other server's clock is an hour off, a log line and a metric say so, and also say when it is right again", async () => {
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
  /** The log lines after two more fetches of the keys, which each readiness request causes. */
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
