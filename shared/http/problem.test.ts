import { expect, test } from '@jest/globals';
import { problem } from './problem.ts';

test('RFC 9457 section 4.2.1: about:blank has the phrase of the status for its title', () => {
  const { type, body } = problem(404);
  expect(type).toBe('application/problem+json');
  expect(JSON.parse(body)).toEqual({ title: 'Not Found', status: 404 });
});

test.each([
  [413, 'Content Too Large'],
  [422, 'Unprocessable Content'],
  [431, 'Request Header Fields Too Large'],
  [599, 'Error'],
])('RFC 9110 section 15: %i is %s', (status, title) => {
  expect(JSON.parse(problem(status).body)).toEqual({ title, status });
});

test('RFC 9457 section 3.2: extension members do not replace the standard members', () => {
  const { body } = problem(400, 'No', 'Do this.', {
    status: 200,
    title: 'x',
    detail: 'y',
    scope: 'a',
  });
  expect(JSON.parse(body)).toEqual({ title: 'No', status: 400, detail: 'Do this.', scope: 'a' });
});

test('RFC 9457 section 3.1.1: a type can be given', () => {
  const type = 'https://iana.org/assignments/http-problem-types#date';
  expect(JSON.parse(problem(400, 'Date', undefined, { type }).body)).toMatchObject({ type });
});
