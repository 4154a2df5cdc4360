type TokenErrorCode =
  'invalid_client' | 'invalid_request' | 'invalid_scope' | 'invalid_target' | 'unsupported_grant_type'

/** Why no token was issued, in the terms of OAuth 2.0. The description says what to do. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
  readonly code: TokenErrorCode

  constructor(code: TokenErrorCode, description: string) {
    super(description)
    this.code = code
  }
}
