/**
 * Responses without an example in RFC 7616, computed with Python's hashlib: for Mufasa and the nonces of
 * section 3.9.1, and `POST /dir/index.html` with the contents "content of the request" and "content of the
 * response".
 */
export const RESPONSES = [
  {
    algorithm: 'MD5',
    qop: 'auth',
    response: '6f31d8ff6361bb27783b6ac62b999535',
    rspauth: '9b712497bc9f91499fbcca1dfc5f09a5',
  },
  {
    algorithm: 'MD5',
    qop: 'auth-int',
    response: 'c6af3e63e0865ead6005f6fda5abef7a',
    rspauth: '0445bed3c38cc385cdc6bae6920065ec',
  },
  {
    algorithm: 'MD5-sess',
    qop: 'auth',
    response: '9e3465d402d672d7b3c6a659201e5672',
    rspauth: 'b9bdf5673282d64412df46ad40660539',
  },
  {
    algorithm: 'MD5-sess',
    qop: 'auth-int',
    response: '23e2759e376c184ee1f5672936164b1c',
    rspauth: '597f6b45b78606fe8642b2e8de4ee7a3',
  },
  {
    algorithm: 'SHA-256',
    qop: 'auth',
    response: 'b85bfcaae378db6f6d75b1706062ac3d66fec2dd3d0082d77885522866488dac',
    rspauth: '86d3b25618d41854ca5039a5d7e53ff6355d5134a9b1fb088a78ac3c462195a0',
  },
  {
    algorithm: 'SHA-256',
    qop: 'auth-int',
    response: 'ae4eb1ac942b40b4b0c4ddcbfd3a2784d802ca693b2bfbd400c33c0c461664f5',
    rspauth: '6f9a653e6a869312cf79f72f457d43896e16b6f49d293482745f854bdcc0e767',
  },
  {
    algorithm: 'SHA-256-sess',
    qop: 'auth',
    response: '0e658dc13b25b342e9281bdff874ea276afc02b18423b0b6e6d4db12ef338586',
    rspauth: 'd4ad609d150eafce2281da5c3179878fdb37e6a16021272f4bed1a082f5c2324',
  },
  {
    algorithm: 'SHA-256-sess',
    qop: 'auth-int',
    response: 'd9f350d2ba380327b77257538d972917b15ce7c535581ea59a7e282356210337',
    rspauth: '9f9b0b3198c4005d03e2277eb761450d727bca546029bbed1b62a18974827060',
  },
  {
    algorithm: 'SHA-512-256',
    qop: 'auth',
    response: 'bd4311c37b3890a2df44699789473e744efafb31f8d789781eac66741224f782',
    rspauth: 'c8f9593a4f49b95ce2c483cc3222ecd360a5c6ec52ca24a530b0aac18478de8c',
  },
  {
    algorithm: 'SHA-512-256',
    qop: 'auth-int',
    response: 'd7d18e89f2391b181ca02e4eabb1dc001a5d5fad663db8b5d6170af102395f0e',
    rspauth: '7cfbd04bc165d8b81bd90286df44eac5ba1dee877f4ab262262a69980aaecc5e',
  },
  {
    algorithm: 'SHA-512-256-sess',
    qop: 'auth',
    response: '6a367200f8f86e5ed33f8efa29ba094aa97a9c411b3a57823e11563a89748060',
    rspauth: '98012a4e63fae2aea13adaa3410368ef7278c87ca0acbd3c941ca5fe3dceeb86',
  },
  {
    algorithm: 'SHA-512-256-sess',
    qop: 'auth-int',
    response: '9e6b38d2e7aa694f38a2d03f5048144a8e43198ac471c1fc4b0ba19fcab6712a',
    rspauth: 'bd544f3e526dfc6e605ce65a4c1691f8360012c381bb112ce2ece1ab09bf9acc',
  },
] as const;
