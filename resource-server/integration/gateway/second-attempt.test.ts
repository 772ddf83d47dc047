import { expect, test } from '@jest/globals';
import { startApplication, startGateway } from '../gateway.fixture.ts';

test('a client whose second attempt finds no connection gets a 503 that does not claim that nothing was sent', async () => {
  let isFirst = true;
  let isOver = false;
  await using application = await startApplication((request, response) => {
    if (request.method === 'DELETE') {
      if (isFirst) setImmediate(() => request.socket.destroy());
      else response.end();
      isFirst = false;
      return;
    }
    const holding = setInterval(() => {
      response.write('.'); // keeps the only connection occupied
      if (!isOver) return;
      clearInterval(holding);
      response.end();
    }, 50);
  });
  const upstream = { url: application.url, timeout: 1, connections: 1 };
  await using gateway = await startGateway(
    { open: { upstream, schemes: [], scopes: {} } },
    { trustedProxies: [] },
  );
  const removed = gateway.ask('DELETE', '/open/a');
  const held = gateway.ask('GET', '/open/b');
  const { status } = await removed;
  isOver = true;
  expect(status).toBe(502);
  expect((await held).status).toBe(200);
});

test('RFC 4918 section 9.8.5: a Destination on another server does not count as a failure of the application', async () => {
  await using application = await startApplication();
  const upstream = { urls: [application.url, `${application.url}other/`] };
  await using gateway = await startGateway(
    { open: { upstream, schemes: [], scopes: {} } },
    { trustedProxies: [] },
  );
  const headers = { Destination: 'https://elsewhere.example/open/b' };
  const { status, text } = await gateway.ask('COPY', '/open/a', { headers });
  expect({ status, text }).toMatchObject({
    status: 502,
    text: expect.stringContaining('another server'),
  });
  expect(text).not.toContain('no answer');
  expect(gateway.lines.filter((line) => line.includes('upstream.failed'))).toEqual([]);
});
