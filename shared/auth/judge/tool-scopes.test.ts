import { describe, expect, test } from '@jest/globals';
import { scopesOfCalls } from './tool-scopes.ts';

const TOOLS = new Map([
  ['add_note', ['notes:write']],
  ['share_note', ['notes:write', 'notes:share']],
]);
const scopesOf = (message: unknown) => scopesOfCalls(TOOLS, message);
const call = (name: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });

describe('scopes of the tools that a message calls (MCP, tools)', () => {
  test.each([
    ['a tool that needs more', call('add_note'), ['notes:write']],
    ['another tool', call('list_notes'), []],
    ['a name that every object has', call('constructor'), []],
    ['a name that is no text', call(['add_note']), []],
    ['a prompt of the same name', { method: 'prompts/get', params: { name: 'add_note' } }, []],
    [
      'a batch: all together, none twice',
      [call('add_note'), call('share_note')],
      ['notes:write', 'notes:share'],
    ],
    ['a notification in a batch', [{ ...call('add_note'), id: undefined }], ['notes:write']],
  ])('a message needs the scopes of its tools: %s', (_, message, expected) => {
    expect(scopesOf(message)).toEqual(expected);
  });

  test.each([undefined, null, 'tools/call', 7, [], [[]], {}, { method: 'tools/call' }])(
    'a message that is no call of a tool needs no scopes: %j',
    (message) => {
      expect(scopesOf(message)).toEqual([]);
    },
  );

  test.each([
    { METHOD: 'tools/call', params: { name: 'add_note' } },
    { method: 'tools/call', PARAMS: { name: 'add_note' } },
    { method: 'tools/call', 'param\u017f': { Name: 'add_note' } },
    { method: 'tools/call', params: { name: 'list_notes', NAME: 'add_note' } },
    { method: 'tools/call', params: { name: 'list_notes' }, Params: { name: 'add_note' } },
    { method: 'tools/list', Method: 'tools/call', params: { name: 'add_note' } },
    call('add_note\0'),
    { method: 'tools/call\0x', 'params\0': { 'name\0': 'add_note' } },
    JSON.parse('{ "method": "tools/call", "params": { "__proto__": { "name": "add_note" } } }'),
    JSON.parse('{ "__proto__": { "method": "tools/call", "params": { "name": "add_note" } } }'),
  ])('a member that another server may read as the name is checked: %j', (message) => {
    expect(scopesOf(message)).toEqual(['notes:write']);
  });
});
