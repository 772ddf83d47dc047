import { expect, test } from '@jest/globals';
import { startResourceServer } from './resource-server.fixture.ts';

test('a malformed JSONPath expression gets an error with the position, and the log has nothing of it', async () => {
  await using rs = await startResourceServer();
  await rs.as('PUT', '/documents/a.json', {
    headers: { 'Content-Type': 'application/json' },
    body: '{"a":1}',
  });
  const { status, text } = await rs.as('QUERY', '/documents/a.json', {
    headers: { 'Content-Type': 'application/jsonpath' },
    body: '$[?@.pin=="4711" secret]',
  });
  expect([status, text]).toEqual([422, expect.stringMatching(/cannot be evaluated: .*secret/)]);
  const line = rs.lines.find((one) => one.includes('QUERY')) ?? '';
  expect(JSON.parse(line)).toMatchObject({
    reason: 'This JSONPath expression cannot be evaluated',
  });
  expect(rs.lines.join('')).not.toMatch(/secret|4711/);
});
