import { expect, test } from '@jest/globals';
import { comparable } from './resource-indicators.ts';

const NAME = 'https://api.example/mcp';

test.each([
  ['RFC 3986 section 6.2.2.1: scheme and host in capitals', 'HTTPS://API.Example/mcp'],
  ['RFC 3986 section 6.2.3: the default port', 'https://api.example:443/mcp'],
  ['RFC 3986 section 6.2.3: an empty port', 'https://api.example:/mcp'],
  ['a slash at the end', 'https://api.example/mcp/'],
])('a name means the same resource if it differs by %s', (_what, resource) => {
  expect(comparable(resource)).toBe(comparable(NAME));
});

test.each([
  'https://api.example/MCP',
  'https://api.example/mcp//',
  'https://api.example/x/../mcp',
  'https://api.example/%6dcp',
  'https://api.example:8443/mcp',
  'http://api.example/mcp',
  'https://api.example/mcp?',
  'https://api.example/mcp#',
  'https://user@api.example/mcp',
  'https:\\\\api.example\\mcp',
  ' https://api.example/mcp',
  'https://api.example\t/mcp',
  'https:/api.example/mcp',
  'https://ⓐpi.example/mcp',
  'https://api%2Eexample/mcp',
  'https://api.example:0443/mcp',
  'mcp',
  '',
])('the name %j means another resource', (resource) => {
  expect(comparable(resource)).not.toBe(comparable(NAME));
});
