import { isCertificateFault } from '../certificates.ts'
import { BadConfiguration } from '../config.ts'

const faults: readonly { readonly code: RegExp; readonly fault: string }[] = [
  { code: /^28...$/, fault: 'the user or password is wrong, or the user may not connect' },
  { code: /^3D000$/, fault: 'there is no such database' },
  { code: /^EACCES$/, fault: 'this user of the machine may not use the socket of PostgreSQL' },
  { code: /^42501$/, fault: 'the user has no right to make or use the tables of the service' },
]

/** The fault in DATABASE_URL, when that is why a statement failed; the message never holds the password. */
export const misconfiguration = (error: unknown, address: string): BadConfiguration | undefined => {
  if (!(error instanceof Error)) return undefined
  const cause = error.cause instanceof Error ? error.cause : error
  const code = 'code' in cause ? String(cause.code) : ''
  // Of sslrootcert, sslcert or sslkey; what is in it is read by OpenSSL.
  if ('syscall' in cause && cause.syscall === 'open')
    return new BadConfiguration(`DATABASE_URL: a file that it names cannot be read: ${cause.message}`)
  if (code.startsWith('ERR_OSSL_'))
    return new BadConfiguration(
      `DATABASE_URL: a file that it names holds no usable certificate or key (${cause.message})`,
    )
  if (isCertificateFault(code))
    return new BadConfiguration(
      `DATABASE_URL: the certificate of ${address} does not fit (${cause.message}): check sslrootcert and the host`,
    )
  const fault = faults.find((each) => each.code.test(code))?.fault
  if (fault !== undefined) return new BadConfiguration(`DATABASE_URL: ${fault} (${address}: ${cause.message})`)
  // Said by a pooler, of what the address itself asks for.
  if (/^SASL|unsupported startup parameter|does not support SSL|SSL connection/.test(cause.message))
    return new BadConfiguration(`DATABASE_URL: ${address}: ${cause.message}`)
  return undefined
}
