import http2 from 'node:http2';
import { expect, test } from '@jest/globals';
import { startApplication, startGateway } from '../gateway.fixture.ts';

// END_STREAM would say that the content is whole (RFC 9113 section 8.1).
test.each([{}, { te: 'trailers' }])(
  'an answer without a length that breaks off is a stream reset over HTTP/2 %j',
  async (fields) => {
    const heard = Promise.withResolvers<void>();
    await using application = await startApplication((_, response) => {
      response.write('half');
      void heard.promise.then(() => response.destroy());
    });
    await using gateway = await startGateway({
      shop: { upstream: { url: application.url }, schemes: [], scopes: {} },
    });
    const session = http2.connect(`http://127.0.0.1:${gateway.listening.port}`);
    const stream = session.request({ ':path': '/shop/x', ':authority': 'rs.example', ...fields });
    let ended = false;
    stream.on('error', () => {});
    stream.on('end', () => (ended = true));
    stream.on('data', () => heard.resolve());
    await new Promise((resolve) => stream.once('close', resolve));
    expect({ ended, code: stream.rstCode }).toEqual({
      ended: false,
      code: http2.constants.NGHTTP2_INTERNAL_ERROR,
    });
    session.destroy();
  },
);
