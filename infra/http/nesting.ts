const deepest = 64

/**
 * True for JSON that is nested so deep that a recursive function over it could run out of stack. It is counted in bytes of
 * UTF-8.
 */
export const isNestedTooDeep = (body: Buffer): boolean => {
  let depth = 0
  let quoted = false
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (quoted) {
      if (byte === 0x5c) at++
      else if (byte === 0x22) quoted = false
    } else if (byte === 0x22) quoted = true
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > deepest) return true
    } else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return false
}

export const refusedNesting = `The body is nested deeper than ${deepest} levels. Flatten it.`
