/* confdefs.h */
#define PACKAGE_NAME "ggufs"
#define PACKAGE_TARNAME "ggufs"
#define PACKAGE_VERSION "0.1.0"
#define PACKAGE_STRING "ggufs 0.1.0"
#define PACKAGE_BUGREPORT ""
#define PACKAGE_URL ""
#define PACKAGE "ggufs"
#define VERSION "0.1.0"
