/** RFC 7486 appendix B. */

const LINES = {
  publicKey: [
    'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAviE8fMrGIPZN9up94M28',
    '6o38B99fsz5cUqYHXXJlnHIi6gGKjqLgn3P7n4snUSQswLExrkhSr0TPhRDuPH_t',
    'fXLKLBbh17ofB7t7shnPKxmyZ69hCLbe7pB1HvaBzTxPC2KOqskDiDBOQ6-JLHQ8',
    'egXB14W-641RQt0CsC5nXzo92kPCdV4NZ45MW0ws3twCIUDCH0nibIG9SorrBbCl',
    'DPHQZS5Dk5pgS7P5hrAr634Zn4bzXhUnm7cON2x4rv83oqB3lRqjF4T9exEMyZBS',
    'L26m5KbK860uSOKywI0xp4ymnHMc6Led5qfEMnJC9PEI90tIMcgdHrmdHC_vpldG',
    'DQIDAQAB',
  ],
  signature: [
    'VD-0LGVBVEVjfq4xEd35FjnOrIqzJ2OQMx5w8E52dgVvxFD6R0ryEsHcD31ykh0i',
    '4YIzIHXirx7bE4x9yP-9fMBCEwnHJsYwYQhfRpmScwAz-Ih1Hn4yORTb-U66miUz',
    'q04ZgTHm4jAj45afU20wYpGXY2r3W-FRKc6J6Glv_zI_ROghERalxgXG-QVGZrKP',
    'tG0V593Yf9IPnFSpLyW6fnxscCMWUA9T-4NjMdypI-Ze4HsC9J06tRTOunQdofr9',
    '6ZJ2i9LE6uKSUDLCD2oeEeSEvUR--4OGtrgjzYysHZkdVSxAi7OoQBK34EUWg9kI',
    'S13qQA43m4IMExkbApqrSg',
  ],
  authorization: [
    'HOBA result="vesscamS2Kze4FFOg3e2UyCJPhuQ6_3_gzN-',
    'k_L6t3w.pUE77w0LylHypHKhBqAiQHuGC751GiOVv4/7pSlo9jc=.Pm3yUW-sW5Q',
    '.VD-0LGVBVEVjfq4xEd35FjnOrIqzJ2OQMx5w8E52dgVvxFD6R0ryEsHcD31ykh0',
    'i4YIzIHXirx7bE4x9yP-9fMBCEwnHJsYwYQhfRpmScwAz-Ih1Hn4yORTb-U66miU',
    'zq04ZgTHm4jAj45afU20wYpGXY2r3W-FRKc6J6Glv_zI_ROghERalxgXG-QVGZrK',
    'PtG0V593Yf9IPnFSpLyW6fnxscCMWUA9T-4NjMdypI-Ze4HsC9J06tRTOunQdofr',
    '96ZJ2i9LE6uKSUDLCD2oeEeSEvUR--4OGtrgjzYysHZkdVSxAi7OoQBK34EUWg9k',
    'IS13qQA43m4IMExkbApqrSg"',
  ],
} as const;

export const APPENDIX_B = {
  /** The body of the PEM key, in base64url, although PEM uses base64 (RFC 7468). */
  publicKey: LINES.publicKey.join(''),
  origin: 'https://example.com:443',
  /** This kid is not the SHA-256 of the key. */
  kid: 'vesscamS2Kze4FFOg3e2UyCJPhuQ6_3_gzN-k_L6t3w',
  /** The slash is base64, although section 2 requires base64url. */
  challenge: 'pUE77w0LylHypHKhBqAiQHuGC751GiOVv4/7pSlo9jc=',
  alg: '0',
  nonce: 'Pm3yUW-sW5Q',
  signature: LINES.signature.join(''),
  authorization: LINES.authorization.join(''),
} as const;
