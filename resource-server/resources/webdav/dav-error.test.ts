import { expect, test } from '@jest/globals';
import { errorAnswer } from '#shared/server/message/answer.ts';
import { davError } from './dav-error.ts';

test('RFC 4918 section 16: the error equals the example of the RFC, except for white space', () => {
  const error = davError(423, 'lock-token-submitted', 'Locked.', ['/workspace/webdav/']);
  expect(errorAnswer(error)).toEqual({
    status: 423,
    fields: { 'Cache-Control': 'no-store', 'Content-Type': 'application/xml; charset="utf-8"' },
    body:
      '<?xml version="1.0" encoding="utf-8"?>\n<D:error xmlns:D="DAV:">' +
      '<D:lock-token-submitted><D:href>/workspace/webdav/</D:href></D:lock-token-submitted>' +
      '</D:error>',
  });
});

test('a path cannot inject markup', () => {
  const { content } = davError(423, 'no-conflicting-lock', 'Locked.', ['</D:href><D:x/>&']);
  expect(content?.body).toContain('<D:href>&lt;/D:href&gt;&lt;D:x/&gt;&amp;</D:href>');
});
