import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'

/** True where an error's code is one of the names that OpenSSL and Node.js give to faults of a server's certificate. */
export const isCertificateFault = (code: string): boolean => certificateCodes.test(code)

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_|CRL|HOSTNAME|INVALID_CA|PATH_LENGTH|INVALID_PURPOSE/

/** The files of a TLS connection, in PEM. */
export type TlsFiles = { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer }

/** The file that cannot be used, and the reason. Node.js says of an authority nothing, and of the others when it connects. */
export const tlsFilesFault = ({ ca, cert, key }: TlsFiles): { file: keyof TlsFiles; fault: string } | undefined => {
  const uses: readonly (readonly [keyof TlsFiles, () => unknown])[] = [
    ['ca', () => ca && new X509Certificate(ca)],
    ['cert', () => cert && createSecureContext({ cert })],
    ['key', () => key && createSecureContext({ ...(cert && { cert }), key })],
  ]
  for (const [file, use] of uses)
    try {
      use()
    } catch (error) {
      const what = file === 'key' ? 'private key in PEM that fits the certificate' : 'certificate in PEM'
      return { file, fault: `holds no ${what} (${error instanceof Error ? error.message : String(error)})` }
    }
  return undefined
}
