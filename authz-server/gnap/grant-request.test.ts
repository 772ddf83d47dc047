import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { CONTENTS, readContent } from './grant-request.ts';
import { GnapError } from './gnap-error.ts';

/** Says whether content is accepted, or refused in a way that a client can be told. */
function outcome(schema: (typeof CONTENTS)[keyof typeof CONTENTS], content: Uint8Array): string {
  try {
    readContent(schema, Buffer.from(content));
    return 'read';
  } catch (error) {
    if (!(error instanceof GnapError)) throw error;
    return error.code;
  }
}

describe.each(Object.entries(CONTENTS))('content of a %s', (_name, schema) => {
  test('any octets that are no JSON are refused as no JSON', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        expect(['read', 'invalid_request']).toContain(outcome(schema, octets));
      }),
    );
  });

  test('any JSON is accepted or refused', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const content = Buffer.from(JSON.stringify(value));
        expect(['read', 'invalid_request']).toContain(outcome(schema, content));
      }),
    );
  });
});

test('a request like a valid one is accepted or refused, whatever its members contain', () => {
  const member = fc.oneof(fc.jsonValue(), fc.constant(['photos:read']), fc.constant('httpsig'));
  const like = fc.record({
    access_token: fc.oneof(member, fc.record({ access: member, label: member, flags: member })),
    client: fc.oneof(member, fc.record({ key: member, display: member })),
    interact: fc.oneof(member, fc.record({ start: member, finish: member, hints: member })),
    subject: fc.oneof(member, fc.record({ sub_id_formats: member })),
    user: fc.oneof(member, fc.record({ sub_ids: member, assertions: member })),
  });
  fc.assert(
    fc.property(like, (value) => {
      const content = Buffer.from(JSON.stringify(value));
      expect(['read', 'invalid_request']).toContain(outcome(CONTENTS.request, content));
    }),
  );
});
