import { listenForActs } from './acts.ts'
import { listenForFiles } from './files.ts'
import { listenForFind } from './find.ts'
import { listenForWork } from './live.ts'
import { listenForMoments } from './moments.ts'
import { listenForSetupFile } from './setup-file.ts'
import { listenForSignIn, listenForSignOut } from './sign-in.ts'

document.documentElement.dataset['script'] = ''
listenForSignIn()
listenForSignOut()
listenForActs()
listenForFind()
listenForFiles()
listenForMoments()
listenForSetupFile()
listenForWork()
