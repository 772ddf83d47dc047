/**
 * The mistakes in a key or a metadata document of a client, and the errors of a connection to its server. A text about
 * a member of the document continues the member's name.
 */
export const CLIENTS = {
  // A key of a client of GNAP: RFC 9635 section 7.1.
  'key-object': 'key is not an object',
  'key-no-format': 'key has none of {names}: send one of them',
  'key-formats': 'key has more than one of {names}: send only one',
  'key-certificate': 'a key for mtls is a certificate: send cert or cert#S256',
  'key-pem': 'cert is not a certificate in PEM',
  'key-no-jwk': 'a key for httpsig is a public key: send it as jwk',
  'key-private': 'jwk holds a private or symmetric key: send its public part only',
  'key-kid': 'jwk has no kid of 1 to {most} characters: add one',
  'key-alg': 'alg of jwk is not supported: use one of {names}',
  'key-of-other-alg': 'jwk is not a public key for its alg',
  'key-proof': 'proof is neither httpsig nor mtls: use one of them',
  'key-proof-alg': 'alg of proof is not that of the key: use that of {alg}',
  'key-digest': 'content-digest-alg is neither sha-256 nor sha-512: use one of them',

  // A metadata document: draft-ietf-oauth-client-id-metadata-document section 4.1.
  'document-object': 'the document is not a JSON object',
  'document-address': 'client_id is not the address of the document',
  'document-no-keys': 'jwks is missing: private_key_jwt needs jwks or jwks_uri',
  'document-idle-keys': 'jwks has no use without private_key_jwt: remove jwks and jwks_uri',
  'document-keys-elsewhere': 'jwks_uri is not at the origin of the document: move the keys there',
  'document-value': 'must have {value}',
  'document-key': 'must be a public key, and one of RSA has 2048 to 4096 bits',
  'document-secret': 'must not be there: anybody can read the document',
  'document-loopback': 'must be http on loopback',

  // An answer that is no document: section 4.
  'document-status': '{server} answered {status} where 200 has to be',
  'document-type': 'the content type is {type}, not JSON',
  'document-no-type': 'the content type is missing: send application/json',

  // No answer of another server, with the reason by the class of the error.
  'no-answer': 'no answer from {server}: {why}',
  'network-time': 'it took too long (timeout)',
  'network-denied': 'the configuration does not permit it',
  'network-long': 'it is longer than {most} bytes',
  'network-untrusted': '{detail}; NODE_EXTRA_CA_CERTS names further CAs to trust',
  'network-name': 'the name has no address ({detail})',
  'network-connection': 'the connection failed ({detail})',
  'network-other': '{detail}',
} as const;
