/** The error codes of RFC 9635 section 3.6 that this server answers with. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_interaction'
  | 'invalid_flag'
  | 'invalid_rotation'
  | 'key_rotation_not_supported'
  | 'invalid_continuation'
  | 'user_denied'
  | 'request_denied'
  | 'unknown_user'
  | 'too_fast'
  | 'too_many_attempts';

/** A refusal that the client is told (RFC 9635 section 3.6). Its message is a description for developers. */
export class GnapError extends Error {
  override readonly name = 'GnapError';
  readonly code: ErrorCode;
  /** Members of the answer beside the error, such as `continue`. */
  readonly more: object;

  constructor(code: ErrorCode, description: string, more: object = {}) {
    super(description);
    this.code = code;
    this.more = more;
  }
}
