/** Whether an error's code is one of the names that OpenSSL and Node.js give to what is wrong with a server's certificate. */
export const isCertificateFault = (code: string): boolean => certificateCodes.test(code)

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_|CRL|HOSTNAME|INVALID_CA|PATH_LENGTH|INVALID_PURPOSE/
