import { expect, test } from '@jest/globals';
import { EXCHANGES } from '../../playground/exchanges.ts';
import { noteOn } from '../../playground/notes.ts';
import { messagesOf, startPlayground, statusesOf } from './playground.fixture.ts';

const HTML = { headers: { Accept: 'text/html' } };

test('the list leads to a page for each exchange, with the command, and without script', async () => {
  await using rs = await startPlayground();
  const list = await rs.ask('GET', '/schemes/', HTML);
  expect(list.status).toBe(200);
  expect((await rs.ask('GET', '/', HTML)).text).toContain('href="/schemes/"');
  for (const { name, title } of EXCHANGES) {
    expect(list.text).toContain(`<a href="/playground/${name}">${title}</a>`);
    const page = await rs.ask('GET', `/playground/${name}`, HTML);
    expect([name, page.status]).toEqual([name, 200]);
    expect(page.text).not.toContain('<script');
    expect(page.text).toContain('method="post"');
  }
});

test.each(EXCHANGES)('every field of the messages of $name has a note', async ({ name }) => {
  await using rs = await startPlayground();
  const messages = messagesOf((await rs.perform(name)).text);
  expect(messages.length).toBeGreaterThan(1);
  const names = messages.flatMap((message) =>
    (message.split('\n\n')[0] ?? '')
      .split('\n')
      .slice(1)
      .map((line) => line.slice(0, line.indexOf(':'))),
  );
  expect(names.filter((field) => noteOn(field) === undefined)).toEqual([]);
});

test.each(
  EXCHANGES.flatMap(({ name, mistakes }) => Object.keys(mistakes).map((one) => [name, one])),
)('%s with the mistake %s is refused in the end', async (name, mistake) => {
  await using rs = await startPlayground();
  const page = await rs.perform(name, `mistake=${mistake}`);
  expect(statusesOf(page.text).at(-1)).toBe(401);
  expect(page.text).toContain(`<option value="${mistake}" selected`);
});

test('the frame of a page is German for a German browser', async () => {
  await using rs = await startPlayground();
  const page = await rs.perform('basic', '', { 'Accept-Language': 'de' });
  expect(page.text).toContain('Der Server antwortet');
});
